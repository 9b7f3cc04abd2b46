# https://github.com/kubernetes/autoscaler/pull/5939, first in 1.28.0.

@cluster-autoscaler @externalgrpc @issue-5939
Feature: An instance that could not be created is no node to wait for

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
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

  @externalgrpc-5939-never-late
  Scenario: The failed instance cannot be deleted, and the time for its node is over
    Given Cluster Autoscaler with the flags:
      | --max-node-provision-time | 3m |
    When a pod "web" that requests 3 CPU is created
    Then this holds within 10m:
      """
      never: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {reason: DeleteUnregisteredFailed}}
      ever: true
      """

  @externalgrpc-5939-for-ever
  Scenario: The failed instance cannot be deleted, and the other group has room
    Given Cluster Autoscaler with the flags:
      | --max-node-provision-time | 3m |
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 15m
