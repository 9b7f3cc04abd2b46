Feature: An instance of unknown state that never becomes a node is removed

  @SCENARIO-ID
  Scenario: The first instance never becomes a node
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |
      | other | large  | 0   | 5   |
    # Faults. They are there before what they break; "nodestorm sentences cloud refused" has more.
    And every call "list instances" to the cloud is answered without the fields "instances.status"
    And the first new simulated node never registers
    And Cluster Autoscaler with the flags:
      | --max-node-provision-time | 3m |
    When a pod "web" that requests 3 CPU is created
    # A Then waits for a span of virtual time, which passes in seconds.
    Then this holds within 15m:
      """
      happens: {source: cloud, verb: NodeGroupDeleteNodes, resource: instances, code: 200}
      """
