# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: An upgrade changes nothing about machines that are as they should be

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later

  @karpenter-4403-upgraded-scaling-up
  Scenario: Karpenter is upgraded when pods wait for machines
    Given the release before the target runs in its place until it is upgraded
    And the target has the environment variables:
      | BATCH_IDLE_DURATION | 15s |
      | BATCH_MAX_DURATION  | 3m  |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then "replicaset-controller" has ever sent "create" of "pods" 6 times within 1m
    When the target is upgraded
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 9
    Then "replicaset-controller" has ever sent "create" of "pods" 9 times within 1m
    When the target is rolled back
    Then every pod is Running within 5m
    And 10m from now, exactly 9 NodeClaims have been created since the start

  @karpenter-4403-upgraded-consolidating
  Scenario: Karpenter is upgraded by two releases when it removes machines
    Given the second release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 3
    Then "karpenter" has sent "delete" of "nodeclaims" within 3m
    When the target is upgraded
    Then 10m from now, exactly 6 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 3 times within 1s
    And every pod is Running within 1m

  @karpenter-4403-pair-at-rest
  Scenario: When all is in order, Karpenter is upgraded from the release before, and rolled back
    Given the release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then every pod is Running within 5m
    When the scenario waits for 6m
    And the target is upgraded
    And the scenario waits for 11m
    And the target is rolled back
    Then "karpenter" never sends "delete" of "nodeclaims" within 11m
    And "karpenter" has ever sent "create" of "nodeclaims" exactly 6 times within 1s
    And every pod is Running within 1m

  @karpenter-4403-pair-removing
  Scenario: When it removes machines, Karpenter is upgraded from the release before, and rolled back
    Given the release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 4
    Then "karpenter" has sent "delete" of "nodeclaims" within 5m
    When the target is upgraded
    Then "karpenter" has ever sent "delete" of "nodes" 2 times within 10m
    When "Deployment/web" is scaled to 2
    Then "karpenter" has sent "delete" of "nodeclaims" within 5m
    When the target is rolled back
    Then 15m from now, exactly 6 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 4 times within 1s
    And every pod is Running within 1m
