# A control of https://github.com/aws/karpenter-provider-aws/pull/9064: this maintenance is to come.

@aws @issue-9064
Feature: A Node is drained before its host is maintained

  @aws-9064-announced-maintenance
  Scenario: A reboot of the host is announced
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the first instance has the maintenance "system-reboot" announced 1m after it is running
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 3m
    When "cloud" has recorded "maintenance" of "instances"
    Then "karpenter" has sent "delete" of "nodeclaims" within 3m
    And a pod of the Deployment "web" is Running within 5m
