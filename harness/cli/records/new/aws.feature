Feature: A full subnet leaves the other subnets of its zone usable

  @SCENARIO-ID
  Scenario: A subnet is full before Karpenter knows, and another type is asked for in its zone
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    # EC2, IAM, SQS and SSM of one region. "nodestorm sentences AWS" has what can break in it.
    And an AWS region
    And a subnet "second" in "us-west-2a" with 100 free addresses
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: general}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge]}
            - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}
      """
    When the subnet "nodestorm-us-west-2a" has 0 free addresses
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {node.kubernetes.io/instance-type: c6i.xlarge, topology.kubernetes.io/zone: us-west-2a}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    And this is recorded:
      """
      {source: cloud, verb: CreateFleet, detail: {error: InsufficientFreeAddressesInSubnet}}
      """
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: api}
      spec:
        nodeSelector: {node.kubernetes.io/instance-type: m6i.xlarge}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    # A Then waits for a span of virtual time, which passes in seconds.
    Then the pod "api" is Running within 2m
