# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9044, first in v1.11.0.

@aws @issue-9044
Feature: A NodeClass is ready if one of its subnets can be used

  Before it calls a NodeClass ready, Karpenter asks whether RunInstances would succeed.

  @aws-9044-first-subnet
  Scenario: RunInstances fails in one zone
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the subnet "nodestorm-us-west-2b" has 1000 free addresses
    And the subnet "nodestorm-us-west-2c" has 1000 free addresses
    And these faults:
      """
      faults:
        - name: trouble in a zone
          match: {operation: RunInstances, dryRun: "true", location: us-west-2a}
          refuse: {code: InternalError}
      """
    And Karpenter
    When these objects are created:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
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
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 5m
