# No report of this path is known; for what it leaves, see https://github.com/kubernetes/autoscaler/issues/5657.

@cluster-autoscaler @externalgrpc @issue-5657
Feature: A node that is not going to be deleted is not left tainted

  @externalgrpc-5657-taint-answer-lost
  Scenario: The taint is set, its answer is lost, and a pod comes for the node
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 1   |
    And Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add | 1m |
      | --scale-down-unneeded-time   | 1m |
      | --max-bulk-soft-taint-count  | 0  |
    And a pod "web" that requests 3 CPU is Running
    When the first call "update nodes" of the program "cluster-autoscaler" is carried out, but its response is lost
    And "Pod/web" is deleted
    And a pod "again" that requests 3 CPU is created once this is recorded:
      """
      {source: fault, verb: effective, resource: nodes, actor: cluster-autoscaler}
      """
    Then this holds within 10m:
      """
      happens: {source: api, verb: update, resource: nodes, name: best-1, actor: cluster-autoscaler, code: 200, detail: {removed: {exists: true}}}
      ever: true
      """
    And the pod "again" is Running within 1m
    And 2m from now, the group "best" has had an instance since the start, and at no time a target size above 1
