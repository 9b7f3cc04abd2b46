# Open. The checks came with https://github.com/aws/karpenter-provider-aws/pull/9064, first in v1.12.0.

@aws @issue-9064
Feature: Maintenance that is over disrupts nothing

  AWS lists an event for a week after its end. Its description then begins with "[Completed]".

  @aws-9064-finished-maintenance
  Scenario: An event of an instance is listed as completed
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the first instance has the finished maintenance "system-reboot" listed 1m after it is running
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 3m
    And "karpenter" never sends "delete" of "nodeclaims" within 10m
