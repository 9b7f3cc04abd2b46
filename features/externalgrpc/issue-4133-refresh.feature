# As it is meant to be, in all releases; with https://github.com/kubernetes/autoscaler/issues/4133 in mind.

@cluster-autoscaler @externalgrpc @issue-4133
Feature: A cloud that cannot say what is new does not stop the autoscaler

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

  @externalgrpc-4133-refresh
  Scenario: Nothing new can be had of the cloud for a while, and a pod waits
    Given every call "refresh groups" to the cloud is refused with "unavailable", for 14m
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
