# Left by https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: What a group begins with is counted on

  @externalgrpc-9360-minimum
  Scenario: The autoscaler starts while the group's first machine boots
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 1   | 5   |
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1
