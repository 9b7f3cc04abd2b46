# What goes wrong on simulated nodes: each fault is felt by who looks at the API server.

Feature: Simulated nodes break as scenarios say

  Background:
    Given a cluster

  Scenario: They never register
    Given further simulated nodes never register
    When a machine "a" with a simulated kubelet boots
    Then the node "a" does not register within 10m

  Scenario: They register late
    Given further simulated nodes register 3m late
    When a machine "a" with a simulated kubelet boots
    Then the node "a" does not register within 3m
    And the node "a" is Ready within 1m

  Scenario: They are not Ready for a while
    Given further simulated nodes are NotReady for 30s, from 1m after they are Ready
    When a machine "a" with a simulated kubelet boots
    Then the node "a" is Ready within 1m
    And the node "a" becomes NotReady 1 time within 2m
    And the node "a" is Ready within 1m

  Scenario: A pod is too much for their container runtime
    Given further simulated nodes are NotReady for 30s once a pod "heavy" runs on them
    When a machine "a" with a simulated kubelet boots
    Then the node "a" is Ready within 2m
    When a pod "heavy" for the node "a" is created
    Then the node "a" becomes NotReady 1 time within 3m

  Scenario: They flap
    Given further simulated nodes flap every 40s
    When a machine "a" with a simulated kubelet boots
    Then the node "a" becomes NotReady 3 times within 4m

  Scenario: An agent never gets ready
    Given a node agent "cilium" that taints its Node with "node.cilium.io/agent-not-ready:NoSchedule" from 1s to 20s after registration
    And the agents of further simulated nodes never lift their taint
    When a machine "a" with a simulated kubelet boots
    Then the node "a" is Ready within 2m
    And the node "a" keeps the taint "node.cilium.io/agent-not-ready:NoSchedule" for 5m

  Scenario: Somebody deletes the Node
    Given the Nodes of further simulated machines are deleted 2m after they are Ready
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is deleted within 5m
