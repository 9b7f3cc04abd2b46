# Open. NodeClaims are made anew as soon as what is unavailable is tried again.

@aws @issue-3198
Feature: What cannot be had is asked for more and more seldom

  @aws-3198-exhausted-type
  Scenario: The only type of a NodePool is out of stock for an hour
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the instance type "c6i.xlarge" is out of stock
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then "karpenter" has sent "create" of "nodeclaims" no more than 12 times within 1h
