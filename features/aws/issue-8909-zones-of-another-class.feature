# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9023, first in v1.11.0.

@aws @issue-8909
Feature: Each NodeClass has the zones of its own subnets

  @aws-8909-zones-of-another-class
  Scenario: Two NodeClasses have two subnets each, in a zone of their own
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And a subnet "a2" in "us-west-2a" with 1000 free addresses
    And a subnet "b2" in "us-west-2b" with 1000 free addresses
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: a}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {Name: nodestorm-us-west-2a}}, {tags: {Name: a2}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: a}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [c6i.xlarge]}
      """
    And these objects:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: b}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {Name: nodestorm-us-west-2b}}, {tags: {Name: b2}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: b}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [c6i.xlarge]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: a}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 3m
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: api}
      spec:
        nodeSelector: {karpenter.sh/nodepool: b}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "api" is Running within 3m
