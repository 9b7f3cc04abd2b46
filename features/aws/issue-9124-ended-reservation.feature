# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9124, first in v1.13.0.

@aws @issue-9124
Feature: The end of a reservation disrupts no Node

  Instances that filled it run on, on demand.

  @aws-9124-ended-reservation
  Scenario: A reservation ends as was announced, and a Node is in it
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And a targeted capacity reservation "web" of 2 instances of the type "m6i.xlarge" in "us-west-2a"
    And the capacity reservation "web" ends in 9m35s
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
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    When "cloud" has recorded "ended" of "reservations"
    Then "karpenter" never sends "delete" of "nodeclaims" within 10m
