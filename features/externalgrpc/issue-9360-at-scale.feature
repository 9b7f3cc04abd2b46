# https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: Instances that cannot be had do not hide a pod that waits, in a cluster of a thousand

  @externalgrpc-9360-at-scale
  Scenario: The failed instance cannot be deleted, and of ten groups one has room
    Given a cluster
    And a cloud of node groups
    And these node groups:
      | name  | type   | min | max |
      | a     | tiny   | 125 | 125 |
      | b     | tiny   | 125 | 125 |
      | c     | tiny   | 125 | 125 |
      | d     | tiny   | 125 | 125 |
      | e     | tiny   | 125 | 125 |
      | f     | tiny   | 125 | 125 |
      | g     | tiny   | 125 | 125 |
      | h     | tiny   | 125 | 125 |
      | best  | medium | 0   | 5   |
      | other | large  | 0   | 5   |
    And these faults:
      """
      faults:
      - name: out of stock
        match: {operation: create_server, group: best}
        actionFails: {code: resource_unavailable, message: none left}
      """
    And every call "delete instances" to the cloud is refused with "internal"
    And Cluster Autoscaler
    When the scenario waits for 90s
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 4m
