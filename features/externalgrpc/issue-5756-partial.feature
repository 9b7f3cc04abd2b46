# https://github.com/kubernetes/autoscaler/pull/5756, first in 1.30.0.

@cluster-autoscaler @externalgrpc @issue-5756
Feature: A group that is out of instances is left alone though it had some

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
    And these faults:
      """
      faults:
      - name: out of stock
        match: {operation: create_server, group: best}
        skip: 2
        actionFails: {code: resource_unavailable, message: no more of them}
      """

  @externalgrpc-5756-partial
  Scenario: Two of three instances come, and the third cannot be had
    Given Cluster Autoscaler with the flags:
      | --expander | price |
    When a Deployment "web" of 3 pods that request 3 CPU is created
    And a Deployment "more" of 4 pods that request 3 CPU is created once "node" has recorded "running" of "pods" 3 times
    Then this holds within 4m:
      """
      never: {source: cloud, verb: NodeGroupIncreaseSize, name: best, code: 200}
      since: {source: cloud, verb: failed, resource: instances}
      """
    And this holds within 6m:
      """
      count: {source: node, verb: running, resource: pods}
      atLeast: 7
      ever: true
      """
