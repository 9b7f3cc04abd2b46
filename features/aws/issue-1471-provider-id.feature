# A control of https://github.com/kubernetes/cloud-provider-aws/issues/1471: here the kubelet says which instance it is on.

@aws @issue-1471
Feature: A Node with a provider ID goes with its instance, though it was never initialized

  @aws-1471-provider-id
  Scenario: The instance of a Node with a provider ID ends before there is a controller manager, and another is initialized
    Given a cluster
    And machines that register 30s after their launch and are Ready 10s later
    And an AWS region
    And an instance of the type "m5.large" is launched in "us-west-2a"
    And the first instance vanishes 2m after it is running
    When "cloud" has recorded "deleted" of "instances"
    And the scenario waits for 2m
    And the cloud controller manager of AWS is deployed
    Then "cloud-controller-manager" has sent "delete" of "nodes" within 10m
    When an instance of the type "m5.large" whose kubelet has no provider ID is launched in "us-west-2b"
    Then "cloud-controller-manager" has sent "update" of "nodes" within 5m
