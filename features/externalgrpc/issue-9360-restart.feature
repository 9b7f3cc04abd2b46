# Left by https://github.com/kubernetes/autoscaler/pull/9132 and https://github.com/kubernetes/autoscaler/pull/9360.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: What an autoscaler has asked for it need not remember to count on it

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |

  @externalgrpc-9360-restart
  Scenario: The autoscaler is killed while a machine boots for the pod
    Given Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    And the target is restarted once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1

  @externalgrpc-9360-total
  Scenario: It is killed while the last machine boots that there may be
    Given Cluster Autoscaler with the flags:
      | --max-nodes-total | 2 |
    When a pod "web" that requests 3 CPU is created
    And the target is restarted once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "web" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 1
