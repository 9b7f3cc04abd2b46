# https://github.com/kubernetes/autoscaler/pull/6596, first in 1.28.5, 1.29.3 and 1.30.0.

@cluster-autoscaler @externalgrpc @issue-6596
Feature: A deletion that is refused is no success

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

  @externalgrpc-6596-deletion-refused
  Scenario: The failed instance cannot be deleted, and a pod needs another group
    Given Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    And a pod "big" that requests 6 CPU is created once "cloud" has recorded "failed" of "instances"
    Then the pod "big" is Running within 10m
