# https://github.com/kubernetes/autoscaler/pull/5936, first in 1.29.0.

@cluster-autoscaler @externalgrpc @issue-5936
Feature: A group with options of its own waits for its nodes as long as others do

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | min | max | options                   |
      | best | 0   | 5   | scaleDownUnneededTime=10m |

  @externalgrpc-5936-no-time
  Scenario: A pod waits for the first node of the group
    Given Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
