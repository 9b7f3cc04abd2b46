# https://github.com/kubernetes/autoscaler/pull/5752, first in 1.28.0.

@cluster-autoscaler @externalgrpc @issue-5752
Feature: An empty status is filled

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |

  @externalgrpc-5752-empty-status
  Scenario: The ConfigMap of the autoscaler's status is there, without data
    Given these objects:
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: cluster-autoscaler-status, namespace: kube-system}
      """
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 10m
