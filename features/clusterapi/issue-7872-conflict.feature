# https://github.com/kubernetes/autoscaler/issues/7872
# Fixed by https://github.com/kubernetes/autoscaler/pull/7908, first in 1.33.0.

@cluster-autoscaler @clusterapi @issue-7872
Feature: A conflict with another writer is no reason to take the second choice

  Controllers write to MachineDeployments all the time. When one does between
  Cluster Autoscaler's read of a scale and its write, the API server refuses the
  write and asks for another try. The group that the user prefers is as good as
  before.

  Background:
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "first" of 1 to 4 machines, 1 of them Running
    And a MachineDeployment "second" of 1 to 4 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running

  @clusterapi-7872-conflict-forced
  Scenario: Another writer comes in between, once
    Given the first call "update,patch machinedeployments.cluster.x-k8s.io/scale first" of the program "cluster-autoscaler" finds its object updated by another client
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"
    When a pod "web" that requests 3 CPU is created
    Then the autoscaler scales the MachineDeployment "first" within 2m
    And 2m from now, the autoscaler has not scaled the MachineDeployment "second" since the start
    And the pod "web" is Running within 10m

  @clusterapi-7872-conflict-second-writer
  Scenario: Another controller writes while the autoscaler's write is on its way
    Given every call "update,patch machinedeployments.cluster.x-k8s.io/scale first" of the program "cluster-autoscaler" is delayed by 30s
    And Cluster Autoscaler that prefers the MachineDeployment "first" to "second"
    When a pod "web" that requests 3 CPU is created
    And "MachineDeployment/first" is annotated "example.org/seen=1" once "fault" has recorded "effective" of "machinedeployments.cluster.x-k8s.io" "first"
    Then the autoscaler scales the MachineDeployment "first" within 2m
    And 2m from now, the autoscaler has not scaled the MachineDeployment "second" since the start
    And the pod "web" is Running within 10m
