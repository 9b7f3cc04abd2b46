# https://github.com/kubernetes/autoscaler/issues/6524

@cluster-autoscaler @clusterapi @issue-6524
Feature: A machine that never joins is removed, and another one takes its place

  @clusterapi-6524-never-joins
  Scenario: The first machine for a pod never joins
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And the first machine of the MachineDeployment "workers" never joins
    And Cluster Autoscaler for Cluster API
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 40m
    And the MachineDeployment "workers" has 2 Running machines within 10m
    And the cloud has 2 instances of "workers"
