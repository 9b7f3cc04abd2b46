# Open. It has been so by default since v1.6.0, see also https://github.com/aws/karpenter-provider-aws/issues/8176.

@aws @issue-9518
Feature: Open reservations are filled by what runs on demand

  AWS has instances fill an open reservation that is like them, unless they are launched so that they do not.

  @aws-9518-idle-reservation
  Scenario: There is room in an open reservation, and no node class names one
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And an open capacity reservation "web" of 2 instances of the type "m6i.xlarge" in "us-west-2a"
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge]}
            - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}
            - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      ---
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds:
      """
      never: {source: cloud, verb: created, resource: instances, detail: {reservation: {exists: false}}}
      ever: true
      """

  @aws-9518-gate-off
  Scenario: The same, and Karpenter's gate for reserved capacity is off
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And an open capacity reservation "web" of 2 instances of the type "m6i.xlarge" in "us-west-2a"
    And the target has the environment variables:
      | FEATURE_GATES | ReservedCapacity=false |
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge]}
            - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}
            - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      ---
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds:
      """
      never: {source: cloud, verb: created, resource: instances, detail: {reservation: {exists: false}}}
      ever: true
      """
