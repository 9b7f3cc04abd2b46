# https://github.com/kubernetes/autoscaler/issues/8494
# Fixed by https://github.com/kubernetes/autoscaler/pull/8583, first in 1.35.0.

@cluster-autoscaler @clusterapi @issue-8494
Feature: A scale-down in the middle of a rollout deletes the machine that is not needed, or none

  New machines have to prove themselves for a while before old ones go: until then
  they are empty, and look as if they were not needed.

  @clusterapi-8494-rollout
  Scenario: The new machine is empty and the old ones are not
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And "MachineDeployment/workers" is patched with:
      """
      spec: {minReadySeconds: 2400}
      """
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And Cluster Autoscaler
    When the MachineDeployment "workers" changes to instances of the type "cpx41"
    Then 30m from now, a pod has been scheduled since the start, and no eviction has been asked for
