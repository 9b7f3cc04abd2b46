# https://github.com/kubernetes/autoscaler/pull/6485, first in 1.30.0.

@cluster-autoscaler @externalgrpc @issue-6485
Feature: A node whose group is gone does not end the autoscaler

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |

  @externalgrpc-6485-group-gone
  Scenario: The group is removed while an empty node of it is to be deleted
    Given Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add  | 1m  |
      | --scale-down-unneeded-time    | 1m  |
      | --node-delete-delay-after-taint | 30s |
    And a pod "web" that requests 3 CPU is Running
    When "Pod/web" is deleted
    And this is recorded:
      """
      {source: api, verb: update, resource: nodes, actor: cluster-autoscaler, detail: {added: {exists: true}}, count: 2}
      """
    And every call "find groups" to the cloud is answered without the fields "nodeGroup"
    Then this holds within 5m:
      """
      count: {source: log, verb: loop, actor: cluster-autoscaler}
      atLeast: 15
      """
