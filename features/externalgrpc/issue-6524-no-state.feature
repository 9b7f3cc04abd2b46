# https://github.com/kubernetes/autoscaler/pull/6528, first in 1.28.6, 1.29.4 and 1.30.0.

@cluster-autoscaler @externalgrpc @issue-6524
Feature: An instance of unknown state that never becomes a node is removed

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
    And every call "list instances" to the cloud is answered without the fields "instances.status"
    And the first new simulated node never registers

  @externalgrpc-6524-no-state
  Scenario: The first instance never becomes a node
    Given Cluster Autoscaler with the flags:
      | --max-node-provision-time | 3m |
    When a pod "web" that requests 3 CPU is created
    Then this holds within 15m:
      """
      happens: {source: cloud, verb: NodeGroupDeleteNodes, resource: instances, code: 200}
      """
