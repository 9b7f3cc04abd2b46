# https://github.com/kubernetes-sigs/cluster-api/issues/75 is the thread that asks how one machine can be named.

@cluster-autoscaler @clusterapi @issue-75
Feature: Only the machine that was marked is deleted, however late Cluster API hears of the mark

  # The oldest machine goes first, unless one is marked: the newest is the one that is not needed.
  @clusterapi-75-stale-watch
  Scenario: Cluster API hears of the new size before it hears of the mark
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 1 of them Running
    And "MachineDeployment/workers" is patched with:
      """
      spec: {strategy: {type: RollingUpdate, rollingUpdate: {deletePolicy: Oldest}}}
      """
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time | 1m |
    When "MachineDeployment/workers" is scaled to 2
    Then the MachineDeployment "workers" has 2 Running machines within 5m
    When every call "watch machines.cluster.x-k8s.io" of the program "cluster-api" delivers nothing for 2m
    And this is recorded:
      """
      {source: api, verb: [update, patch], resource: machinedeployments, actor: cluster-autoscaler, within: 30m}
      """
    Then 10m from now, a pod has been scheduled since the start, and no eviction has been asked for
