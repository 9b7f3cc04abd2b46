# https://github.com/kubernetes-sigs/cluster-api/issues/13649
# Fixed by https://github.com/kubernetes-sigs/cluster-api/pull/13720, first in v1.14.0.

@cluster-api @clusterapi @issue-13649
Feature: A MachineDeployment has one MachineSet for one template, however late its controller hears of it

  @clusterapi-13649-machinesets
  Scenario: The watch of MachineSets is silent while a MachineDeployment is new
    Given a cluster
    And Cluster API
    And every call "watch machinesets.cluster.x-k8s.io" of the program "cluster-api" delivers nothing for 35s, for 35s
    And a MachineDeployment "workers" with 2 Running machines
    When the scenario waits for 5m
    Then the MachineDeployment "workers" has 2 Running machines within 10m
    And this holds:
      """
      count: {source: api, verb: create, resource: machinesets, actor: capi-manager}
      atMost: 1
      ever: true
      """
