# Faults say which occasion, from when, and for how long; in words and in YAML alike.

Feature: Faults say when and how often

  Background:
    Given a cluster

  Scenario: The second of two machines never registers
    Given the second new simulated node never registers
    When a machine "a" with a simulated kubelet boots
    And a machine "b" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    And 10m from now, the Node "b" has not registered since a fault was armed for it

  Scenario: A node that is there is NotReady for a while
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    When the simulated node "a" is NotReady, from 30s on, for 1m
    Then the Node "a" becomes NotReady at least 1 time within 2m
    And the Node "a" is Ready within 2m

  Scenario: Faults wait for a record, in YAML
    Given these faults:
      """
      nodes:
      - {name: runtime hangs, when: {source: node, verb: ready}, at: 1m, for: 30s, notReady: {}}
      """
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m
    And the Node "a" becomes NotReady at least 1 time within 2m
    And the Node "a" is Ready within 1m

  Scenario: A fault of the cloud is cleared before it acts
    Given a Hetzner Cloud project
    And these faults:
      """
      faults:
      - {name: no room, match: {operation: POST /servers}, refuse: {code: resource_unavailable}}
      """
    And the first action "start_server" in the cloud takes 2m
    When the fault "no room" is cleared
    And a client creates the server "web" of type "cx22" in "fsn1"
    Then the Node "web" is Ready within 5m and has the provider ID of its server
