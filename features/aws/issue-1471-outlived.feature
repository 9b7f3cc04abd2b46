# Open. An instance that is looked for by the name of its Node and not found is an error there.

@aws @issue-1471
Feature: A Node goes with its instance, though it was never initialized

  @aws-1471-outlived
  Scenario: The instance of a Node without a provider ID ends before there is a controller manager
    Given a cluster
    And machines that register 30s after their launch and are Ready 10s later
    And an AWS region
    And an instance of the type "m5.large" whose kubelet has no provider ID is launched in "us-west-2a"
    And the first instance vanishes 2m after it is running
    When "cloud" has recorded "deleted" of "instances"
    And the scenario waits for 2m
    And the cloud controller manager of AWS is deployed
    Then "cloud-controller-manager" has sent "delete" of "nodes" within 10m
