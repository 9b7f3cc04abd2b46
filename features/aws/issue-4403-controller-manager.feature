# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403, of Karpenter.

@aws @issue-4403
Feature: An upgrade of the cloud controller manager loses nothing that was under way

  @aws-4403-controller-manager
  Scenario: It is upgraded when an instance boots, and rolled back when one has vanished
    Given a cluster
    And machines that register 30s after their launch and are Ready 30s later
    And an AWS region
    And the release before the target runs in its place until it is upgraded
    And the cloud controller manager of AWS
    When an instance of the type "m5.large" is launched in "us-west-2a"
    And the first instance vanishes 7m after it is running
    And "node" has recorded "register" of "nodes"
    And the target is upgraded
    Then "cloud-controller-manager" never sends "delete" of "nodes" within 5m
    And "cloud-controller-manager" has ever sent "update" of "nodes" exactly 1 times within 1s
    When "cloud" has recorded "deleted" of "instances"
    And the target is rolled back
    Then "cloud-controller-manager" has ever sent "delete" of "nodes" exactly 1 times within 10m
