# Open. Karpenter deletes launch templates that it has not used for a minute.

@aws @issue-7941
Feature: A launch template stays for as long as a launch needs it

  @aws-7941-slow-launch
  Scenario: AWS takes two and a half minutes for each launch
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And these faults:
      """
      faults:
        - name: slow launches
          match: {operation: CreateFleet, capacity: spot}
          delay: {by: 150s}
      """
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 15m
