# The rest of https://github.com/kubernetes/autoscaler/pull/8402: an error is no trouble any more, and nothing at all is.

@cluster-autoscaler @externalgrpc @issue-8402
Feature: A cloud without a template for an empty group does not end the autoscaler

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

  @externalgrpc-8402-no-template
  Scenario: The template of one group is empty, and a pod fits the other
    Given every call "get templates" to the cloud for instances of the group "best" is answered without the fields "nodeInfo,nodeBytes"
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m

  @externalgrpc-8402-template-fails
  Scenario: The template of one group cannot be had, and a pod fits the other
    Given every call "get templates" to the cloud for instances of the group "best" is refused with "internal"
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
