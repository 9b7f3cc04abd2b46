# A consequence of https://github.com/kubernetes/autoscaler/pull/7950, first in 1.33.0.
# Changed by https://github.com/kubernetes/autoscaler/pull/10001, after 1.36.1.

@cluster-autoscaler @clusterapi @issue-10001
Feature: A machine that runs is not deleted for what its provider once said of it

  From Cluster API v1.11 on a failure that the provider reports no longer makes a
  machine Failed: it goes on, and so does its node.

  @clusterapi-10001-failure-message
  Scenario: A failure is reported of machines that run, and of nodes that are Ready
    Given a cluster
    And Cluster API v1.12.0
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And the target has the environment variables:
      | CAPI_VERSION | v1beta1 |
    And Cluster Autoscaler
    When every machine of the MachineDeployment "workers" is reported as failed while it runs
    Then 40m from now, a machine has been created since the start, and none has been deleted
