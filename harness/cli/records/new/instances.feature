Feature: A machine that the cloud refuses to launch is given up soon

  @SCENARIO-ID
  Scenario: The cloud answers every launch for one of two NodePools with an error of its own
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    # Without this line the machines are kwok's, whose launches never fail.
    And a cloud of instances
    # A fault. It is there before what it breaks; "nodestorm sentences cloud refused" has more.
    # An interruption, instead: nodestorm sentences interrupted
    And every call "launch instances" to the cloud for instances of the group "broken" is refused with "server_error"
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: broken}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.nodestorm.sim, kind: FakeNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: nowhere}
      spec:
        nodeSelector: {karpenter.sh/nodepool: broken}
        containers: [{name: nowhere, image: nowhere, resources: {requests: {cpu: 1}}}]
      """
    And these objects are created once "fault" has recorded "effective" of "instances":
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: default}
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    # A Then waits for a span of virtual time, which passes in seconds.
    Then the pod "web" is Running within 8m
