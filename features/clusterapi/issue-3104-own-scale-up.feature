# Sizes that are stale in a scale-down were reported as https://github.com/kubernetes/autoscaler/issues/3104.

@cluster-autoscaler @clusterapi @issue-3104
Feature: The autoscaler's scale-down does not take back its own scale-up

  @clusterapi-3104-own-scale-up
  Scenario: A group is scaled up while one of its machines is being marked for deletion
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time | 3m |
    When the first call "update machines.cluster.x-k8s.io" of the program "cluster-autoscaler" is delayed by 2m
    And a pod "b" that requests 3 CPU is created once "fault" has recorded "matched" of "machines.cluster.x-k8s.io"
    Then the pod "b" is Running within 5m
    And 5m from now, a pod has been scheduled since the start, and no eviction has been asked for
