# https://github.com/kubernetes/autoscaler/pull/9132, first in 1.36.0.

@cluster-autoscaler @clusterapi @issue-9132
Feature: Of a scale-up that times out what is missing is taken back, and no more

  @clusterapi-9132-whole-increase
  Scenario: Two of three machines come, and one never joins
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 5 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    And the third machine of the MachineDeployment "workers" never joins
    # The scale-up is older than the machine by a round. With rounds of 45s one of them comes
    # when the scale-up is too old and the machine is not yet.
    And Cluster Autoscaler with the flags:
      | --max-node-provision-time | 5m  |
      | --scan-interval           | 45s |
    When a Deployment "web" of 3 pods that request 3 CPU is created
    Then this holds within 12m:
      """
      never: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {reason: FailedToRevertScaleUp}}
      """
