# https://github.com/kubernetes/autoscaler/pull/7761, first in 1.32.1.

@cluster-autoscaler @externalgrpc @issue-7761
Feature: The flags of leader election are known

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |

  @externalgrpc-7761-unknown-flag
  Scenario: A command line of the release before is kept
    Given Cluster Autoscaler with these flags, whether it knows them or not:
      | --leader-elect               | true               |
      | --leader-elect-resource-name | cluster-autoscaler |
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
