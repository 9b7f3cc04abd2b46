# https://github.com/kubernetes/autoscaler/issues/5657, in all releases.

@cluster-autoscaler @externalgrpc @issue-5657
Feature: What an autoscaler that dies leaves behind is cleaned up

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |

  @externalgrpc-5657-leftover-taint
  Scenario: The autoscaler is restarted before it deletes a node, while the API server refuses for 20s
    Given Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add    | 1m  |
      | --scale-down-unneeded-time      | 1m  |
      | --node-delete-delay-after-taint | 30s |
    And a pod "web" that requests 3 CPU is Running
    When "Pod/web" is deleted
    And this is recorded:
      """
      {source: api, verb: update, resource: nodes, actor: cluster-autoscaler, detail: {added: {exists: true}}, count: 2}
      """
    And every call "update nodes" of the program "cluster-autoscaler" is answered with 500, for 20s
    And the target is restarted
    And a pod "again" that requests 3 CPU is created
    Then this holds within 10m:
      """
      happens: {source: api, verb: update, resource: nodes, name: best-1, actor: cluster-autoscaler, code: 200, detail: {removed: {exists: true}}}
      """
