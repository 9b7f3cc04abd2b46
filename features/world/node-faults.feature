# What goes wrong on simulated nodes: each fault is felt by who looks at the API server.

Feature: Simulated nodes break as scenarios say

  Background:
    Given a cluster

  Scenario: They never register
    Given every new simulated node never registers
    When a machine "a" with a simulated kubelet boots
    Then 10m from now, the Node "a" has not registered since a fault was armed for it
    And this holds:
      """
      statement: a fault of nodes that are still to come is armed before the first of them is there
      ever: true
      first: {source: fault, verb: armed, actor: sim-node, resource: {exists: false}}
      then: {source: fault, verb: armed, actor: sim-node, resource: nodes, name: a}
      """

  Scenario: They register late
    Given every new simulated node registers 3m late
    When a machine "a" with a simulated kubelet boots
    Then 3m from now, the Node "a" has not registered since a fault was armed for it
    And the Node "a" is Ready within 1m

  Scenario: They are not Ready for a while
    Given every new simulated node is NotReady, once {source: node, verb: ready}, from 1m on, for 30s
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    And the Node "a" becomes NotReady at least 1 time within 2m
    And the Node "a" is Ready within 1m

  Scenario: A pod is too much for their container runtime
    Given every new simulated node is NotReady, once {source: node, verb: running, resource: pods, name: heavy}, for 30s
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 2m
    When a pod "heavy" for the Node "a" is created
    Then the Node "a" becomes NotReady at least 1 time within 3m

  Scenario: They flap
    Given every new simulated node is NotReady for half of every 40s
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" becomes NotReady at least 3 times within 4m

  Scenario: An agent never gets ready
    Given a node agent "cilium" that taints its Node with "node.cilium.io/agent-not-ready:NoSchedule" from 1s to 20s after registration
    And every new simulated node keeps the taint of its agent "cilium"
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 2m
    And the Node "a" keeps the taint "node.cilium.io/agent-not-ready:NoSchedule" for 5m

  Scenario: A user deletes the Node
    Given every new simulated node has its Node deleted, once {source: node, verb: ready}, from 2m on
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is deleted within 5m
