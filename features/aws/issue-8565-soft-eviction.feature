# Fixed by https://github.com/aws/karpenter-provider-aws/pull/8565, first in v1.9.0.

@aws @issue-8565
Feature: A soft threshold of eviction takes nothing from what pods can request

  A kubelet subtracts hard thresholds from its capacity, and no soft ones.

  @aws-8565-soft-eviction
  Scenario: A NodeClass has a soft threshold for memory
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        kubelet:
          evictionSoft: {memory.available: 50%}
          evictionSoftGracePeriod: {memory.available: 5m}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [c6i.xlarge]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers:
        - {name: app, image: app, resources: {requests: {memory: 5Gi}}}
      """
    Then the pod "web" is Running within 3m
