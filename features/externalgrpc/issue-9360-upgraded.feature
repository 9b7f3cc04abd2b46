# Left by https://github.com/kubernetes/autoscaler/pull/9132 and https://github.com/kubernetes/autoscaler/pull/9360.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: An upgrade counts on the machines that the release before has asked for

  The lease of the release before is not given up at its end: the next one waits for it.

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And the release 1.32.5 runs in place of the target until it is upgraded
    And Cluster Autoscaler with the flags:
      | --leader-elect | true |

  @externalgrpc-9360-upgraded
  Scenario: Upgraded while a machine boots for a pod
    When a pod "web" that requests 3 CPU is created
    And the target is upgraded once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1

  @externalgrpc-9360-rolled-back
  Scenario: Rolled back while a machine boots for a pod
    When the target is upgraded
    And a pod "web" that requests 3 CPU is created
    And the target is rolled back once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1
