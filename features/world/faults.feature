# Faults say which occasion, from when, and for how long; in words and in YAML alike.

Feature: Faults say when and how often

  Background:
    Given a cluster

  Scenario: The second of two machines never registers
    Given the second further simulated node never registers
    When a machine "a" with a simulated kubelet boots
    And a machine "b" with a simulated kubelet boots
    Then the node "a" is Ready within 1m
    And the node "b" does not register within 10m

  Scenario: A node that is there is NotReady for a while
    When a machine "a" with a simulated kubelet boots
    Then the node "a" is Ready within 1m
    When the simulated node "a" is NotReady, from 30s on, for 1m
    Then the node "a" becomes NotReady 1 time within 2m
    And the node "a" is Ready within 2m

  Scenario: Faults wait for a record, in YAML
    Given these faults:
      """
      nodes:
      - {name: runtime hangs, when: {source: node, verb: ready}, at: 1m, for: 30s, notReady: {}}
      """
    When a machine "a" with a simulated kubelet boots
    Then the node "a" is Ready within 1m
    And the node "a" becomes NotReady 1 time within 2m
    And the node "a" is Ready within 1m
