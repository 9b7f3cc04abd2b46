# https://github.com/kubernetes/autoscaler/issues/8538

@cluster-autoscaler @clusterapi @issue-8538
Feature: The last machine of a group goes when nothing needs it

  @clusterapi-8538-to-zero
  Scenario: A group of 0 to 1 machines has one that is not needed
    Given a cluster
    And a Ready Node "control-plane" for system pods only
    And Cluster API v1.12.0
    And a MachineDeployment "workers" of 0 to 1 machines, 1 of them Running
    And Cluster Autoscaler with the flags:
      | --scale-down-unneeded-time   | 1m |
      | --scale-down-delay-after-add | 1m |
    When the scenario waits for 1m
    Then the MachineDeployment "workers" has 0 Running machines within 5m
