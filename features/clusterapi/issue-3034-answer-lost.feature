# What is done about a scale-down that failed came with https://github.com/kubernetes/autoscaler/pull/3034.

@cluster-autoscaler @clusterapi @issue-3034
Feature: Only the machine that was marked is deleted, whatever becomes of the answer

  # The oldest machine goes first, unless one is marked: the newest is the one that is not needed.
  @clusterapi-3034-answer-lost
  Scenario: The scale-down is done, and its answer is lost
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 1 of them Running
    And "MachineDeployment/workers" is patched with:
      """
      spec: {strategy: {type: RollingUpdate, rollingUpdate: {deletePolicy: Oldest}}}
      """
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time | 3m |
    When "MachineDeployment/workers" is scaled to 2
    Then the MachineDeployment "workers" has 2 Running machines within 5m
    When the first call "update,patch machinedeployments.cluster.x-k8s.io/scale" of the program "cluster-autoscaler" is carried out, but its response is lost
    And this is recorded:
      """
      {source: api, verb: [update, patch], resource: machinedeployments, actor: cluster-autoscaler, within: 30m}
      """
    Then 10m from now, a pod has been scheduled since the start, and no eviction has been asked for

  @clusterapi-3034-mark-stays
  Scenario: The API server refuses the scale-down, and also that the mark is taken off
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 1 of them Running
    And "MachineDeployment/workers" is patched with:
      """
      spec: {strategy: {type: RollingUpdate, rollingUpdate: {deletePolicy: Oldest}}}
      """
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time | 3m |
    When "MachineDeployment/workers" is scaled to 2
    Then the MachineDeployment "workers" has 2 Running machines within 5m
    When every call "update,patch machinedeployments.cluster.x-k8s.io/scale" of the program "cluster-autoscaler" is answered with 500, for 5m
    And every call from the second on "update,patch machines.cluster.x-k8s.io" of the program "cluster-autoscaler" is answered with 500, for 5m
    And a pod "b" that requests 3 CPU is created once "cluster-autoscaler" has sent "update" of "machines"
    Then the pod "b" is Running within 2m
    When the scenario waits for 5m
    And "Pod/a" is deleted
    And "MachineDeployment/workers" is scaled to 1
    Then 5m from now, a pod has been scheduled since the start, and no eviction has been asked for
