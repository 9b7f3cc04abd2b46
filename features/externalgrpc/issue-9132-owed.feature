# https://github.com/kubernetes/autoscaler/pull/9132, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9132
Feature: A scale-up that took too long is taken back

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
    And every instance of the group "best" counts towards its group's target size, but is not created, for 15m

  @externalgrpc-9132-owed
  Scenario: The cloud has no instance for a while, and says nothing
    Given Cluster Autoscaler with the flags:
      | --max-node-provision-time | 5m |
    When a pod "web" that requests 3 CPU is created
    And this is recorded:
      """
      {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {reason: ScaleUpTimedOut}}
      """
    And "Pod/web" is deleted
    Then this holds within 20m:
      """
      never: {source: cloud, verb: created, resource: instances, detail: {group: best}}
      ever: true
      """
