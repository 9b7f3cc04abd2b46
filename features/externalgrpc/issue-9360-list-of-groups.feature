# Left by https://github.com/kubernetes/autoscaler/pull/9360: a list of groups that fails is an empty one.

@cluster-autoscaler @externalgrpc @issue-9360
Feature: A list of groups that cannot be had ends no scale-up

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |

  @externalgrpc-9360-list-of-groups
  Scenario: The groups cannot be listed in one round, while a machine boots
    Given Cluster Autoscaler
    And a pod "web" that requests 3 CPU is Running
    When a pod "more" that requests 3 CPU is created
    And every call "list groups" to the cloud is refused with "unavailable", for 15s once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "more" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 2
