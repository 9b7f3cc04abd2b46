# How long a node may take is an option of its group since https://github.com/kubernetes/autoscaler/pull/5649.

@cluster-autoscaler @externalgrpc @issue-5649
Feature: Options of a group that cannot be had for a moment cost nothing, and no other group anything

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

  @externalgrpc-5649-bought-twice
  Scenario: The options cannot be had in the moment in which the group is scaled
    Given Cluster Autoscaler
    And a pod "web" that requests 3 CPU is Running
    When every call "get options" to the cloud is refused with "unavailable"
    And a pod "more" that requests 3 CPU is created
    And the scenario waits for 3s once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    And all faults are cleared
    Then the pod "more" is Running within 10m
    And 5m from now, the group "best" has had an instance since the start, and at no time a target size above 2

  @externalgrpc-5649-stops-all
  Scenario: The options of one group cannot be had while its machine is on its way, and a pod needs another group
    Given Cluster Autoscaler
    And a pod "web" that requests 3 CPU is Running
    When the first new simulated node never registers
    And every call "get options" to the cloud for instances of the group "best" is refused with "unavailable"
    And a pod "more" that requests 3 CPU is created
    And a pod "big" that requests 6 CPU is created once "cloud" has recorded "NodeGroupIncreaseSize" of "nodegroups" "best"
    Then the pod "big" is Running within 10m
