# https://github.com/kubernetes/autoscaler/pull/7087, first in 1.31.0.

@cluster-autoscaler @externalgrpc @issue-7087
Feature: Instances that could not be created end no round

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
      - {name: first,  match: {operation: create_server, instance: best-1}, actionFails: {after: 30s,  code: resource_unavailable}}
      - {name: second, match: {operation: create_server, instance: best-2}, actionFails: {after: 85s,  code: resource_unavailable}}
      - {name: third,  match: {operation: create_server, instance: best-3}, actionFails: {after: 140s, code: resource_unavailable}}
      - {name: fourth, match: {operation: create_server, instance: best-4}, actionFails: {after: 200s, code: resource_unavailable}}
      """

  @externalgrpc-7087-rounds
  Scenario: One instance after the other fails, and a pod needs another group
    Given Cluster Autoscaler with the flags:
      | --expander      | price |
      | --scan-interval | 1m    |
    When a Deployment "web" of 4 pods that request 3 CPU is created
    And a pod "big" that requests 6 CPU is created once "cloud" has recorded "failed" of "instances"
    Then this holds within 4m:
      """
      happens: {source: cloud, verb: NodeGroupIncreaseSize, name: other, code: 200}
      """
    And this holds within 10m:
      """
      count: {source: cloud, verb: failed, resource: instances}
      atLeast: 4
      ever: true
      """
