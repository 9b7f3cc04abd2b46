# Open. The alias of an image is a parameter for each architecture.

@aws @issue-5907
Feature: A parameter that cannot be read changes nothing

  @aws-5907-throttled-parameter
  Scenario: Karpenter starts again while AWS throttles the parameter of one of two architectures
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6g.xlarge, m6i.xlarge]}
      """
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 3m
    When these faults:
      """
      faults:
        - name: throttled
          for: 3m
          match: {operation: GetParameter, name: /*/*/*/*/*/*/arm64/*/*/*}
          rateLimit: {}
      """
    And the target is restarted
    Then "karpenter" never sends "delete" of "nodeclaims" within 15m
