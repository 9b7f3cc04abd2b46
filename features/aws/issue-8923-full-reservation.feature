# A control of https://github.com/aws/karpenter-provider-aws/issues/8923: this reservation has no more room.

@aws @issue-8923
Feature: What a reservation has no room for is had on demand

  @aws-8923-full-reservation
  Scenario: Two machines are wanted, and one is reserved
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And a targeted capacity reservation "web" of 1 instance of the type "m6i.xlarge" in "us-west-2a"
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
            - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}
      ---
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        capacityReservationSelectorTerms: [{tags: {Name: web}}]
      """
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 5m
    When a pod "api" that requests 3 CPU is created
    Then the pod "api" is Running within 5m
