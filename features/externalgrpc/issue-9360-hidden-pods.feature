# https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: Instances that cannot be had do not hide a pod that waits

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

  @externalgrpc-9360-hidden-pods
  Scenario: The failed instance cannot be deleted, and the other group has room
    Given Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
