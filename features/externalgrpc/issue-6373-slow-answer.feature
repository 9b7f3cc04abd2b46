# Since https://github.com/kubernetes/autoscaler/pull/6373, first in 1.29.0, a cloud can be given more time.

@cluster-autoscaler @externalgrpc @issue-6373
Feature: A cloud that is slow to answer has not failed

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
    And calls to the cloud time out after 30s

  @externalgrpc-6373-slow-answer
  Scenario: A scale-up is answered after 7s
    Given the first call "increase groups" to the cloud is delayed by 7s
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then this holds within 10m:
      """
      never: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {reason: FailedToScaleUpGroup}}
      ever: true
      """
    And the pod "web" is Running within 10m
