# See https://github.com/cloudpilot-ai/karpenter-provider-gcp/issues/630.

@karpenter @issue-630
Feature: Karpenter is there after an upgrade that turns something on

  The release before does not know the feature gate, and lists no CapacityBuffers.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release before the target runs in its place until it is upgraded
    And the target has the environment variables:
      | FEATURE_GATES | CapacityBuffer=true |
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m

  @karpenter-630-rights-left-behind
  Scenario: The roles are left behind
    When the target is upgraded, and its roles are left behind
    And the scenario waits for 5m
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 2m

  @karpenter-630-rights-upgraded
  Scenario: The roles are upgraded
    When the target is upgraded
    And the scenario waits for 5m
    And a pod "later" that requests 3 CPU is created
    Then the pod "later" is Running within 2m
