# https://github.com/kubernetes/autoscaler/issues/5048

@cluster-autoscaler @externalgrpc @issue-5048
Feature: An upgrade leaves Nodes alone that are as they should be, and ends removals that were begun

  Background:
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And the release 1.32.5 runs in place of the target until it is upgraded

  @externalgrpc-5048-upgraded-removing
  Scenario: Upgraded between the taint of a Node and its removal, and rolled back so
    Given Cluster Autoscaler with the flags:
      | --leader-elect                  | true |
      | --scale-down-delay-after-add    | 1m   |
      | --scale-down-unneeded-time      | 1m   |
      | --node-delete-delay-after-taint | 30s  |
    And a pod "web" that requests 3 CPU is Running
    And a pod "later" that requests 3 CPU is Running
    When "Pod/web" is deleted
    And this is recorded:
      """
      {source: api, verb: update, resource: nodes, name: best-1, actor: cluster-autoscaler, detail: {added: {exists: true}}, count: 2}
      """
    And the target is upgraded
    Then this holds within 10m:
      """
      happens: {source: cloud, verb: NodeGroupDeleteNodes, name: best-1, actor: cluster-autoscaler, code: 200}
      """
    When "Pod/later" is deleted
    And this is recorded:
      """
      {source: api, verb: update, resource: nodes, name: best-2, actor: cluster-autoscaler, detail: {added: {exists: true}}, count: 2}
      """
    And the target is rolled back
    Then this holds within 10m:
      """
      happens: {source: cloud, verb: NodeGroupDeleteNodes, name: best-2, actor: cluster-autoscaler, code: 200}
      """

  @externalgrpc-5048-upgraded-at-rest
  Scenario: Upgraded when all is in order, and rolled back
    Given Cluster Autoscaler
    And a pod "web" that requests 3 CPU is Running
    When the scenario waits for 25m
    And the target is upgraded
    And the scenario waits for 25m
    And the target is rolled back
    And the scenario waits for 11m
    Then the pod "web" is Running within 2m
